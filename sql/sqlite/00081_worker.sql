-- Workers (docs/workers): their groups and tokens; each worker with its life and its lease; and the lists of handlers
-- that they offer, each once. job_groups is a list in JSON. former_epoch is 0 where no run is owed an end.
-- +goose Up
CREATE TABLE scheduler_worker_group (
    name        TEXT NOT NULL,
    job_groups  TEXT NOT NULL,
    secrets     INTEGER NOT NULL,
    commands    INTEGER NOT NULL,
    declares    INTEGER NOT NULL,
    max_workers INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE scheduler_worker_token (
    id           TEXT NOT NULL,
    worker_group TEXT NOT NULL,
    name         TEXT NOT NULL,
    token_hash   TEXT NOT NULL,
    created_by   TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_worker_token ON scheduler_worker_token (token_hash);
CREATE INDEX idx_worker_token_group ON scheduler_worker_token (worker_group);
CREATE TABLE scheduler_worker (
    id              TEXT NOT NULL,
    worker_group    TEXT NOT NULL,
    instance        TEXT NOT NULL,
    boot_id         TEXT NOT NULL,
    epoch           INTEGER NOT NULL,
    status          TEXT NOT NULL,
    slots           INTEGER NOT NULL,
    running         INTEGER NOT NULL,
    command_slots   INTEGER NOT NULL,
    command_running INTEGER NOT NULL,
    weight          INTEGER NOT NULL,
    labels          TEXT NOT NULL,
    handlers_hash   TEXT NOT NULL,
    sdk             TEXT NOT NULL,
    runtime         TEXT NOT NULL,
    version         TEXT NOT NULL,
    host            TEXT NOT NULL,
    pid             INTEGER NOT NULL,
    gateway         TEXT NOT NULL,
    beat_ms         INTEGER NOT NULL,
    lease_ms        INTEGER NOT NULL,
    last_beat       TEXT NOT NULL,
    former_epoch    INTEGER NOT NULL,
    former_until    TEXT,
    create_time     TEXT NOT NULL,
    begin_time      TEXT NOT NULL,
    update_time     TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_worker_group ON scheduler_worker (worker_group);
CREATE TABLE scheduler_worker_handlers (
    hash        TEXT NOT NULL,
    handlers    TEXT NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (hash)
);

-- +goose Down
DROP TABLE scheduler_worker_handlers;
DROP TABLE scheduler_worker;
DROP TABLE scheduler_worker_token;
DROP TABLE scheduler_worker_group;
