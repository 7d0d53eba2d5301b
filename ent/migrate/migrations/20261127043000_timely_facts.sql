-- expand
-- Programs that have this migration store no fact under an id that is older than 0.4 seconds, where
-- those before allow a second. Readers of the event log wait for the latter for as long as one of them runs.
SELECT 1;
