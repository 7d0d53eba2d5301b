-- By hand: tables that only hand-written SQL touches.

-- Owner: runtime/ratelimit. When each account will have all of its requests back
-- (GCRA's theoretical arrival time). Losing it in a crash lets an account burst
-- once more, so it is not worth a write to the log.
CREATE UNLOGGED TABLE "rate_limits" (
  "account_id" character varying NOT NULL COLLATE "C",
  "full_at" timestamptz NOT NULL,
  PRIMARY KEY ("account_id")
) WITH (fillfactor = 50);

-- Owner: modules/retention. How far each account's old data has been deleted: rows
-- with a lesser id have gone.
CREATE TABLE "retention_marks" (
  "account_id" character varying NOT NULL COLLATE "C",
  "kind" character varying NOT NULL,
  "until_id" character varying NOT NULL COLLATE "C",
  "updated_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("account_id", "kind")
);
