-- expand
-- Modify "idempotency_keys" table
ALTER TABLE "idempotency_keys" ADD COLUMN "operation" character varying NOT NULL DEFAULT '';
