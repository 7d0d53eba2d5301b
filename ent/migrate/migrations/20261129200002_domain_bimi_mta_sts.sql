-- expand
-- Modify "domains" table
ALTER TABLE "domains" ADD COLUMN "bimi_logo_url" character varying NOT NULL DEFAULT '', ADD COLUMN "bimi_certificate_url" character varying NOT NULL DEFAULT '', ADD COLUMN "mta_sts" character varying NOT NULL DEFAULT 'off';
