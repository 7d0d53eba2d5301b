-- Modify "nodes" table
ALTER TABLE "nodes" ADD COLUMN "addresses" jsonb NULL, ADD COLUMN "egress" character varying NULL, ADD COLUMN "clock_ahead_ms" bigint NULL;
-- Modify "sources" table
ALTER TABLE "sources" ADD COLUMN "node" character varying NULL;
