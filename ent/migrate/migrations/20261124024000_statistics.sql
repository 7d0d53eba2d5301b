-- Owner: modules/statistics. What became of mail, counted over stretches of 15 minutes, an hour and a
-- day (UTC). "placed" 0: where a thing happened; 1: where its email was handed over. "kind" 0: of the
-- whole account; 1: of a sender (domain, API key, template, automation); 2, 3, 4: of a sender and, as
-- key, a tag, a recipient's domain or what a bounce means.
CREATE TABLE "statistics" (
  "account_id" character varying NOT NULL COLLATE "C",
  "grain" smallint NOT NULL,
  "placed" smallint NOT NULL,
  "kind" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "domain_id" character varying NOT NULL COLLATE "C",
  "api_key_id" character varying NOT NULL COLLATE "C",
  "template_id" character varying NOT NULL COLLATE "C",
  "automation_id" character varying NOT NULL COLLATE "C",
  "key" character varying NOT NULL COLLATE "C",
  "accepted" bigint NOT NULL,
  "recipients" bigint NOT NULL,
  "delivered" bigint NOT NULL,
  "delayed" bigint NOT NULL,
  "bounced" bigint NOT NULL,
  "failed" bigint NOT NULL,
  "complained" bigint NOT NULL,
  "opened" bigint NOT NULL,
  "clicked" bigint NOT NULL,
  "unsubscribed" bigint NOT NULL,
  "suppressed" bigint NOT NULL,
  PRIMARY KEY ("account_id", "grain", "placed", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key")
);
CREATE INDEX "statistics_age" ON "statistics" ("start");

-- Owner: modules/statistics. How long deliveries took, as a histogram: recipients by bin.
CREATE TABLE "statistics_latencies" (
  "account_id" character varying NOT NULL COLLATE "C",
  "grain" smallint NOT NULL,
  "placed" smallint NOT NULL,
  "kind" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "domain_id" character varying NOT NULL COLLATE "C",
  "api_key_id" character varying NOT NULL COLLATE "C",
  "template_id" character varying NOT NULL COLLATE "C",
  "automation_id" character varying NOT NULL COLLATE "C",
  "key" character varying NOT NULL COLLATE "C",
  "bin" smallint NOT NULL,
  "recipients" bigint NOT NULL,
  PRIMARY KEY ("account_id", "grain", "placed", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key", "bin")
);
CREATE INDEX "statistics_latency_age" ON "statistics_latencies" ("start");

-- Owner: modules/statistics. Why mail was refused, by the hour, with the newest example.
CREATE TABLE "statistics_reasons" (
  "account_id" character varying NOT NULL COLLATE "C",
  "start" timestamptz NOT NULL,
  "domain_id" character varying NOT NULL COLLATE "C",
  "api_key_id" character varying NOT NULL COLLATE "C",
  "template_id" character varying NOT NULL COLLATE "C",
  "automation_id" character varying NOT NULL COLLATE "C",
  "class" character varying NOT NULL COLLATE "C",
  "enhanced_code" character varying NOT NULL COLLATE "C",
  "host" character varying NOT NULL COLLATE "C",
  "recipients" bigint NOT NULL,
  "email_id" character varying NOT NULL COLLATE "C",
  PRIMARY KEY ("account_id", "start", "domain_id", "api_key_id", "template_id", "automation_id", "class", "enhanced_code", "host")
);
CREATE INDEX "statistics_reason_age" ON "statistics_reasons" ("start");

-- Owner: modules/statistics. Every fact with a lesser id is counted. One row.
CREATE TABLE "statistics_marks" (
  "id" smallint NOT NULL CHECK ("id" = 1),
  "fact_id" character varying NOT NULL COLLATE "C",
  PRIMARY KEY ("id")
);
