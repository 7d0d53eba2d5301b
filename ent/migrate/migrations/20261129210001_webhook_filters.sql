-- expand
-- Modify "webhooks" table
ALTER TABLE "webhooks" ADD COLUMN "description" character varying NOT NULL DEFAULT '', ADD COLUMN "filter" jsonb NULL, ADD COLUMN "header_names" jsonb NULL, ADD COLUMN "headers" bytea NULL;
