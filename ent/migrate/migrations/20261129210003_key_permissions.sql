-- expand
-- Modify "api_keys" table
ALTER TABLE "api_keys" ADD COLUMN "permissions" jsonb NULL;
