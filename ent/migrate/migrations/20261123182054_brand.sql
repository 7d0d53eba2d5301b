-- Create "account_brands" table
CREATE TABLE "account_brands" (
  "id" character varying NOT NULL COLLATE "C",
  "name" character varying NOT NULL DEFAULT '',
  "color" character varying NOT NULL DEFAULT '',
  "logo" bytea NULL,
  "created_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("id")
);
