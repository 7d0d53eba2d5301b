-- By hand: a table that only hand-written SQL touches.

-- Owner: modules/sending. Which of the attempts that were claimed ahead each node has
-- begun and not settled, by recipient. A server that crashes empties the table; then
-- every attempt of the node counts as begun, so it is not worth a write to the log.
CREATE UNLOGGED TABLE "begun_attempts" (
  "node" integer NOT NULL,
  "round" bigint NOT NULL,
  "recipients" bigint[] NOT NULL,
  PRIMARY KEY ("node")
) WITH (fillfactor = 50);
