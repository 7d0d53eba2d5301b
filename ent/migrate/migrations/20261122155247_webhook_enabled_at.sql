-- Modify "webhooks" table
-- By hand: endpoints that exist keep null, so that they are told of what waits for them at the upgrade.
ALTER TABLE "webhooks" ADD COLUMN "enabled_at" timestamptz NULL;
ALTER TABLE "webhooks" ALTER COLUMN "enabled_at" SET DEFAULT CURRENT_TIMESTAMP;
