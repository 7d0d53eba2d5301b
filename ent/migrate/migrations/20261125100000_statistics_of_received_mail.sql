-- Owner: modules/statistics. Mail that came in, counted over stretches of 15 minutes, an hour and a day
-- (UTC), by what the spam filter said. "kind" 0: of the whole account; 1: of a domain.
CREATE TABLE "statistics_received" (
  "account_id" character varying NOT NULL COLLATE "C",
  "grain" smallint NOT NULL,
  "kind" smallint NOT NULL,
  "start" timestamptz NOT NULL,
  "domain_id" character varying NOT NULL COLLATE "C",
  "ham" bigint NOT NULL,
  "spam" bigint NOT NULL,
  "unknown" bigint NOT NULL,
  "ham_octets" bigint NOT NULL,
  "spam_octets" bigint NOT NULL,
  "unknown_octets" bigint NOT NULL,
  PRIMARY KEY ("account_id", "grain", "kind", "start", "domain_id")
);
CREATE INDEX "statistics_received_age" ON "statistics_received" ("start");
