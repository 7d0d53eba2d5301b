-- expand
-- Modify "nodes" table
ALTER TABLE "nodes" ADD COLUMN "cell" integer NULL;
