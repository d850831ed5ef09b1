-- Approvals in workflow runs (docs/workflows.md): what people are asked, and their votes. The state is that of the
-- execution. voters is a JSON list of user ids, NULL where the permission decides; until_at is milliseconds since 1970.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_approval (
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    run_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    workflow_id  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    step_key     VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    text         TEXT NULL,
    need         TINYINT NOT NULL,
    on_timeout   VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    excluded     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    voters       MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NULL,
    opened_time  DATETIME(3) NOT NULL,
    until_at     BIGINT NOT NULL,
    PRIMARY KEY (execution_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_approval_vote (
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_name    VARCHAR(100) NOT NULL,
    decision     VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    comment      TEXT NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (execution_id, user_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_approval_vote;
DROP TABLE IF EXISTS scheduler_approval;
