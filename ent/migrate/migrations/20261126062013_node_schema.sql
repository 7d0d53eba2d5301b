-- expand
-- Modify "nodes" table
ALTER TABLE "nodes" ADD COLUMN "schema" character varying NULL;
