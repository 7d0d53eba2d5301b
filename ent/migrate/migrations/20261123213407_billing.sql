-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "monthly_limit" bigint NULL, ADD COLUMN "payment_due_at" timestamptz NULL;
-- Modify "plans" table
ALTER TABLE "plans" ADD COLUMN "rank" bigint NOT NULL DEFAULT 0, ADD COLUMN "self_service" boolean NOT NULL DEFAULT false, ADD COLUMN "included_emails" bigint NULL, ADD COLUMN "overage" boolean NOT NULL DEFAULT false;
-- Create "billing_customers" table
CREATE TABLE "billing_customers" (
  "id" character varying NOT NULL COLLATE "C",
  "customer_id" character varying NULL,
  "billing_email" character varying NOT NULL DEFAULT '',
  "card_brand" character varying NOT NULL DEFAULT '',
  "card_last4" character varying NOT NULL DEFAULT '',
  "card_exp_month" bigint NOT NULL DEFAULT 0,
  "card_exp_year" bigint NOT NULL DEFAULT 0,
  "payment_method" boolean NOT NULL DEFAULT false,
  "checkout_id" character varying NOT NULL DEFAULT '',
  "checkout_kind" character varying NOT NULL DEFAULT '',
  "checkout_url" character varying NOT NULL DEFAULT '',
  "checkout_expires_at" timestamptz NULL,
  "write_no" bigint NOT NULL DEFAULT 0,
  "sync_due_at" timestamptz NULL,
  "asked_at" timestamptz NULL,
  "claimed_until" timestamptz NULL,
  "fence" bigint NOT NULL DEFAULT 0,
  "failures" bigint NOT NULL DEFAULT 0,
  "writing_until" timestamptz NULL,
  "wrote_at" timestamptz NULL,
  "entitled_plan" character varying NOT NULL DEFAULT '',
  "synced_at" timestamptz NULL,
  "problems" jsonb NULL,
  "created_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("id")
);
-- Create index "billing_customers_customer_id_key" to table: "billing_customers"
CREATE UNIQUE INDEX "billing_customers_customer_id_key" ON "billing_customers" ("customer_id");
-- Create index "billingcustomer_due" to table: "billing_customers"
CREATE INDEX "billingcustomer_due" ON "billing_customers" ("sync_due_at");
-- Create "billing_events" table
CREATE TABLE "billing_events" (
  "id" character varying NOT NULL COLLATE "C",
  "type" character varying NOT NULL,
  "api_version" character varying NOT NULL DEFAULT '',
  "customer_id" character varying NOT NULL DEFAULT '',
  "received_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
-- Create index "billingevent_received_at" to table: "billing_events"
CREATE INDEX "billingevent_received_at" ON "billing_events" ("received_at");
-- Create "billing_subscriptions" table
CREATE TABLE "billing_subscriptions" (
  "id" character varying NOT NULL COLLATE "C",
  "account_id" character varying NOT NULL COLLATE "C",
  "plan_id" character varying NOT NULL DEFAULT '',
  "status" character varying NOT NULL,
  "item_id" character varying NOT NULL DEFAULT '',
  "metered" boolean NOT NULL DEFAULT false,
  "metered_since" timestamptz NULL,
  "period_start" timestamptz NULL,
  "period_end" timestamptz NULL,
  "cancel_at" timestamptz NULL,
  "schedule_id" character varying NOT NULL DEFAULT '',
  "pending_plan" character varying NOT NULL DEFAULT '',
  "pending_at" timestamptz NULL,
  "past_due_since" timestamptz NULL,
  "created_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("id")
);
-- Create index "billingsubscription_account_id" to table: "billing_subscriptions"
CREATE INDEX "billingsubscription_account_id" ON "billing_subscriptions" ("account_id");

-- By hand from here on: data, and tables that only hand-written SQL touches.

UPDATE "plans" SET "rank" = v.rank, "self_service" = true, "overage" = v.overage
  FROM (VALUES ('free', 0, false), ('pro', 10, false), ('scale', 20, false), ('pool', 30, true), ('dedicated', 40, true)) v (id, rank, overage)
 WHERE "plans"."id" = v.id;

-- Owner: modules/billing. An hour of an account that is to be told to the payment provider, because
-- its plan is metered. What was told is the whole count of the hour.
CREATE TABLE "usage_reports" (
  "account_id" character varying NOT NULL COLLATE "C",
  "hour" timestamptz NOT NULL,
  "emails" bigint NOT NULL,
  "revision" integer NOT NULL DEFAULT 1,
  "reported_emails" bigint NULL,
  "reported_revision" integer NOT NULL DEFAULT 0,
  "due_at" timestamptz NOT NULL,
  "fence" bigint NOT NULL DEFAULT 0,
  "tries" integer NOT NULL DEFAULT 0,
  "repairs" integer NOT NULL DEFAULT 0,
  "stuck_reason" character varying NULL,
  PRIMARY KEY ("account_id", "hour")
);
CREATE INDEX "usage_report_due" ON "usage_reports" ("due_at") WHERE "reported_revision" < "revision" AND "stuck_reason" IS NULL;

-- Owner: modules/billing. Mails about plan and money that were sent, so that each goes once.
CREATE TABLE "billing_notices" (
  "account_id" character varying NOT NULL COLLATE "C",
  "kind" character varying NOT NULL,
  "period" character varying NOT NULL,
  "sent_at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("account_id", "kind", "period")
);
