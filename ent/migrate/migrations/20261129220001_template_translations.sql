-- expand
-- Modify "templates" table
ALTER TABLE "templates" ADD COLUMN "translations" jsonb NULL, ADD COLUMN "locales" jsonb NULL;
-- Modify "template_edits" table
ALTER TABLE "template_edits" ADD COLUMN "translations" jsonb NULL;
-- Modify "template_versions" table
ALTER TABLE "template_versions" ADD COLUMN "translations" jsonb NULL, ADD COLUMN "source_translations" jsonb NULL;
