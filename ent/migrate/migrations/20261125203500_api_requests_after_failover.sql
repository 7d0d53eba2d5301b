-- Owner: modules/apilog. In PostgreSQL 15 and newer the sequence of an unlogged table is unlogged too, and a
-- standby that was promoted cannot read it ("bad magic number in sequence"): the log stayed empty after each
-- fail-over. The sequence is made anew, and is logged. It goes on above every number that can be there.
ALTER TABLE "api_requests" ALTER COLUMN "n" DROP IDENTITY;
ALTER TABLE "api_requests" ALTER COLUMN "n" ADD GENERATED ALWAYS AS IDENTITY;
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 150000 THEN
    EXECUTE 'ALTER SEQUENCE ' || pg_get_serial_sequence('api_requests', 'n') || ' SET LOGGED';
  END IF;
END
$$;
SELECT setval(pg_get_serial_sequence('api_requests', 'n'),
  CASE WHEN EXISTS (SELECT FROM "api_requests") THEN (extract(epoch FROM now()) * 1000)::bigint ELSE 1 END, false);
