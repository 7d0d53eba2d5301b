-- expand
-- Modify "nodes" table
ALTER TABLE "nodes" ADD COLUMN "accounts_seen" character varying NULL;
