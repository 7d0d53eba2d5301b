-- expand
-- Modify "api_keys" table
ALTER TABLE "api_keys" ADD COLUMN "allowed_ips" jsonb NULL, ADD COLUMN "last_used_ip" character varying NULL;
