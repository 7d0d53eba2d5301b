-- expand
-- Tests (version 0) were held while their automation was, and left with the live runs hours later. A test is no longer
-- held. One that is held now is too late to be of use: end it.
WITH gone AS (DELETE FROM automation_works WHERE version = 0 AND parked RETURNING id)
UPDATE automation_runs r SET status = 'cancelled', ended_at = clock_timestamp() FROM gone g WHERE r.id = g.id;
