-- expand
-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "origins" bytea NULL;
