-- Owner: modules/apilog. What was asked of the API in the last days, without what is secret in it. The
-- table is unlogged: after a crash of the database the log begins again.
CREATE UNLOGGED TABLE "api_requests" (
  "n" bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  "request_id" character varying NOT NULL COLLATE "C",
  "account_id" character varying NOT NULL COLLATE "C",
  "method" character varying NOT NULL COLLATE "C",
  "path" character varying NOT NULL COLLATE "C",
  "operation" character varying NOT NULL COLLATE "C",
  "status" smallint NOT NULL,
  "duration_ms" integer NOT NULL,
  "api_key_id" character varying NOT NULL COLLATE "C",
  "user_id" character varying NOT NULL COLLATE "C",
  "ip" character varying NOT NULL COLLATE "C",
  "request_body" text NOT NULL,
  "request_octets" bigint NOT NULL,
  "response_body" text NOT NULL,
  "response_octets" bigint NOT NULL,
  "email_id" character varying NOT NULL COLLATE "C",
  "created_at" timestamptz NOT NULL,
  PRIMARY KEY ("account_id", "n")
);
CREATE INDEX "api_requests_by_id" ON "api_requests" ("account_id", "request_id", "n");
CREATE INDEX "api_requests_by_path" ON "api_requests" ("account_id", "path", "n");
CREATE INDEX "api_requests_by_key" ON "api_requests" ("account_id", "api_key_id", "n") WHERE "api_key_id" <> '';
CREATE INDEX "api_requests_by_user" ON "api_requests" ("account_id", "user_id", "n") WHERE "user_id" <> '';
CREATE INDEX "api_requests_by_email" ON "api_requests" ("account_id", "email_id", "n") WHERE "email_id" <> '';
CREATE INDEX "api_requests_failed" ON "api_requests" ("account_id", "n") WHERE "status" >= 400;
CREATE INDEX "api_requests_by_age" ON "api_requests" ("created_at");
CREATE INDEX "api_requests_by_time" ON "api_requests" ("account_id", "created_at");
