-- Owner: modules/accounts/exports. Which export of an account is under way. The table is unlogged: after
-- a crash of the database none is.
CREATE UNLOGGED TABLE "exports" (
  "account_id" character varying NOT NULL COLLATE "C",
  "turn" character varying NOT NULL,
  "until" timestamptz NOT NULL,
  PRIMARY KEY ("account_id")
);
