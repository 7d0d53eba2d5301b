-- The plans and their limits. Operators may change the rows afterwards.
INSERT INTO "plans" ("id", "name", "requests_per_second", "daily_emails", "monthly_emails", "max_domains", "sandboxed") VALUES
  ('free', 'Free', 10, 100, 3000, 1, true),
  ('pro', 'Pro', 50, NULL, NULL, 10, false),
  ('scale', 'Scale', 200, NULL, NULL, 1000, false),
  ('pool', 'Pool', 500, NULL, NULL, 1000, false),
  ('dedicated', 'Dedicated', 500, NULL, NULL, 1000, false);
