-- Create "event_exports" table
CREATE TABLE "event_exports" (
  "name" character varying NOT NULL,
  "position" character varying NOT NULL COLLATE "C",
  "due_at" timestamptz NOT NULL,
  "fence" bigint NOT NULL DEFAULT 0,
  "node" integer NULL,
  "open" boolean NOT NULL DEFAULT false,
  "again" boolean NOT NULL DEFAULT false,
  "failures" bigint NOT NULL DEFAULT 0,
  "error" character varying NOT NULL DEFAULT '',
  "failed_at" timestamptz NULL,
  "moved_at" timestamptz NOT NULL,
  PRIMARY KEY ("name")
);
