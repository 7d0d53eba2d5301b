-- expand
-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "changed_at" timestamptz NULL;
-- Modify "automation_works" table
ALTER TABLE "automation_works" ADD COLUMN "blocked" jsonb NULL, ADD COLUMN "refused_at" timestamptz NULL;
-- Modify "plans" table
ALTER TABLE "plans" ADD COLUMN "changed_at" timestamptz NULL;
