-- expand
-- Modify "templates" table
ALTER TABLE "templates" ADD COLUMN "kind" character varying NOT NULL DEFAULT 'template', ADD COLUMN "components" jsonb NULL;
-- Modify "template_versions" table
ALTER TABLE "template_versions" ADD COLUMN "source_variables" jsonb NULL, ADD COLUMN "components" jsonb NULL;
