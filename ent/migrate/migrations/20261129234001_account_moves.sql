-- expand
-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "frozen_at" timestamptz NULL, ADD COLUMN "moved_to" character varying NULL, ADD COLUMN "move_id" character varying NULL, ADD COLUMN "move_code" character varying NULL, ADD COLUMN "move_digest" character varying NULL;
