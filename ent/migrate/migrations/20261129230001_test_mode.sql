-- expand
-- Modify "api_keys" table
ALTER TABLE "api_keys" ADD COLUMN "mode" character varying NOT NULL DEFAULT 'live';
-- Modify "captured_mails" table
ALTER TABLE "captured_mails" ADD COLUMN "account_id" character varying COLLATE "C" NULL;
