-- expand
-- Modify "smtp_credentials" table
ALTER TABLE "smtp_credentials" ADD COLUMN "mode" character varying NOT NULL DEFAULT 'live';
