-- Modify "billing_subscriptions" table
ALTER TABLE "billing_subscriptions" ADD COLUMN "metered_until" timestamptz NULL;
