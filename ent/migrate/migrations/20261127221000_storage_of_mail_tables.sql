-- expand
-- Half of a page of emails stays free for the row versions that deliveries write. Such an update changes no index.
-- Tables are vacuumed when 2 % of their rows are dead instead of 20 %, which is millions in a large table.
-- New rows use the setting; existing rows stay where they are. New months take it from the last part of the table.
DO $$
DECLARE
	part record;
BEGIN
	FOR part IN
		SELECT t.name, c.oid::regclass AS relation
		FROM unnest(ARRAY['emails', 'recipients', 'attempts']) AS t (name)
		JOIN pg_class c ON c.relkind = 'r' AND (c.oid = to_regclass(quote_ident(t.name))
			OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass(quote_ident(t.name))) WHERE isleaf))
		ORDER BY 1, 2
	LOOP
		EXECUTE format('ALTER TABLE %s SET (%s autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)',
			part.relation, CASE part.name WHEN 'emails' THEN 'fillfactor = 50,' ELSE '' END);
	END LOOP;
END $$;
