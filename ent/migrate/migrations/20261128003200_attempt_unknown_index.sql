-- contract 20261128003100
-- Drop index "attempt_unknown" from table: "attempts"
DROP INDEX IF EXISTS "attempt_unknown";
