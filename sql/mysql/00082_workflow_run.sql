-- Runs of workflows (docs/workflows.md): id is that of the root execution, state is written by
-- domain/entity/workflow, and seq counts its changes. A step has one id over all runs of its workflow. wake_at is
-- milliseconds since 1970.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_workflow_run (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    workflow_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version     INT NOT NULL,
    seq         BIGINT NOT NULL,
    phase       TINYINT NOT NULL,
    state       MEDIUMBLOB NULL,
    wake_at     BIGINT NULL,
    problem     VARCHAR(1000) NULL,
    create_time DATETIME(3) NOT NULL,
    update_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY idx_run_wake (wake_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_workflow_step (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    workflow_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (id),
    KEY idx_step_workflow (workflow_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_workflow_step;
DROP TABLE IF EXISTS scheduler_workflow_run;
