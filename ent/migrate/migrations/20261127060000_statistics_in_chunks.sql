-- expand
-- Owner: modules/statistics. What became of mail on a day (UTC), by quarters of an hour: chunks of figures and of
-- latencies (modules/statistics/chunk), each placed where a thing happened (event) and where its email was handed
-- over (email). "kind" is rollup.Kind. The account's own row (kind 0) counts the rows of four kinds.
-- Rows are written anew again and again, which changes no index: there is room for it on each page.
CREATE TABLE "statistics_days" (
  "account_id" character varying NOT NULL COLLATE "C",
  "kind" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "key" character varying NOT NULL COLLATE "C",
  "domain_id" character varying NOT NULL COLLATE "C",
  "api_key_id" character varying NOT NULL COLLATE "C",
  "template_id" character varying NOT NULL COLLATE "C",
  "automation_id" character varying NOT NULL COLLATE "C",
  "event_size" bigint NOT NULL,
  "email_size" bigint NOT NULL,
  "domains" integer NOT NULL,
  "tags" integer NOT NULL,
  "sender_domains" integer NOT NULL,
  "sender_tags" integer NOT NULL,
  "event_figures" bytea NOT NULL,
  "event_latencies" bytea NOT NULL,
  "email_figures" bytea NOT NULL,
  "email_latencies" bytea NOT NULL,
  PRIMARY KEY ("account_id", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key")
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000);
CREATE INDEX "statistics_day_age" ON "statistics_days" ("start");

-- Owner: modules/statistics. The same of months that are over, by quarters of an hour, hours and days; by the last two
-- only where that is shorter. What is long is kept apart from the row. The largest keys are found in the primary key alone.
CREATE TABLE "statistics_months" (
  "account_id" character varying NOT NULL COLLATE "C",
  "kind" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "key" character varying NOT NULL COLLATE "C",
  "domain_id" character varying NOT NULL COLLATE "C",
  "api_key_id" character varying NOT NULL COLLATE "C",
  "template_id" character varying NOT NULL COLLATE "C",
  "automation_id" character varying NOT NULL COLLATE "C",
  "event_size" bigint NOT NULL,
  "email_size" bigint NOT NULL,
  "event_figures" bytea NOT NULL,
  "event_latencies" bytea NOT NULL,
  "email_figures" bytea NOT NULL,
  "email_latencies" bytea NOT NULL,
  "event_hours" bytea NOT NULL,
  "event_hour_latencies" bytea NOT NULL,
  "email_hours" bytea NOT NULL,
  "email_hour_latencies" bytea NOT NULL,
  "event_days" bytea NOT NULL,
  "event_day_latencies" bytea NOT NULL,
  "email_days" bytea NOT NULL,
  "email_day_latencies" bytea NOT NULL,
  PRIMARY KEY ("account_id", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key") INCLUDE ("event_size", "email_size")
) WITH (fillfactor = 95, toast_tuple_target = 512);
ALTER TABLE "statistics_months" ALTER COLUMN "event_figures" SET STORAGE EXTERNAL, ALTER COLUMN "event_latencies" SET STORAGE EXTERNAL,
  ALTER COLUMN "email_figures" SET STORAGE EXTERNAL, ALTER COLUMN "email_latencies" SET STORAGE EXTERNAL,
  ALTER COLUMN "event_hours" SET STORAGE EXTERNAL, ALTER COLUMN "event_hour_latencies" SET STORAGE EXTERNAL,
  ALTER COLUMN "email_hours" SET STORAGE EXTERNAL, ALTER COLUMN "email_hour_latencies" SET STORAGE EXTERNAL,
  ALTER COLUMN "event_days" SET STORAGE EXTERNAL, ALTER COLUMN "event_day_latencies" SET STORAGE EXTERNAL,
  ALTER COLUMN "email_days" SET STORAGE EXTERNAL, ALTER COLUMN "email_day_latencies" SET STORAGE EXTERNAL;
CREATE INDEX "statistics_month_age" ON "statistics_months" ("start");

-- When facts were last counted, how many could not be, and why the latest try failed.
ALTER TABLE "statistics_marks" ADD COLUMN "counted_at" timestamptz, ADD COLUMN "skipped" bigint NOT NULL DEFAULT 0, ADD COLUMN "error" character varying NOT NULL DEFAULT '';
-- Few rows that are written again and again.
ALTER TABLE "statistics_marks" SET (fillfactor = 50);
ALTER TABLE "statistics_reasons" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "statistics_received" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
