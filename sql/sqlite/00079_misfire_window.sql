-- The window binds FIRE_ONCE, too, and its default there is a year. What holds the former default of a day keeps the
-- catch-up that it had, when the window did not count. The former release does not look at the window of FIRE_ONCE.
-- +goose Up
UPDATE scheduler_job_definition SET misfire_window_sec = 31536000
    WHERE misfire_policy = 'FIRE_ONCE' AND misfire_window_sec = 86400;
UPDATE scheduler_job_version SET definition = REPLACE(definition, '"WindowSec":86400,', '"WindowSec":31536000,')
    WHERE definition LIKE '%"misfire":{"Policy":"FIRE_ONCE",%' AND definition LIKE '%"WindowSec":86400,%';

-- +goose Down
SELECT 1;
