-- By hand: tables that only hand-written SQL touches.

-- Owner: modules/accounts. How many emails an account has handed over to delivery in an hour,
-- whatever its plan. An hour is written when nothing can be added to it any more; before that
-- it has only what was deleted meanwhile. The revision goes up when a count is corrected.
CREATE TABLE "usage_hours" (
  "account_id" character varying NOT NULL COLLATE "C",
  "hour" timestamptz NOT NULL,
  "emails" bigint NOT NULL,
  "revision" integer NOT NULL DEFAULT 1,
  PRIMARY KEY ("account_id", "hour")
);
CREATE INDEX "usage_hour_age" ON "usage_hours" ("hour");

-- Owner: modules/accounts. The first hour that is still open, and the least id that a fact of it
-- can have. One row.
CREATE TABLE "usage_marks" (
  "id" smallint NOT NULL CHECK ("id" = 1),
  "hour" timestamptz NOT NULL,
  "fact_id" character varying NOT NULL COLLATE "C",
  PRIMARY KEY ("id")
);

-- Owner: modules/accounts. Accounts whose counters are to be made anew from what happened, once
-- every process knows the plan that counts them.
CREATE TABLE "usage_recounts" (
  "account_id" character varying NOT NULL COLLATE "C",
  "ready_at" timestamptz NULL,
  PRIMARY KEY ("account_id")
);

-- Scheduled emails were counted at their release until here. From now on they are counted when
-- they are accepted, so that those which wait have to be added.
INSERT INTO "usage_recounts" ("account_id") SELECT "id" FROM "accounts";
