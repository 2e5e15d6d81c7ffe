-- The files of all sites as one table of DuckDB, each with the folder of its site.
CREATE OR REPLACE TABLE files AS
SELECT regexp_extract(filename, 'sites/([^/]+)/', 1) AS site, * EXCLUDE (filename)
FROM read_csv('harvest/sites/*/files.csv', filename = true, union_by_name = true, all_varchar = true);

-- What has come, changed and gone since; the table is empty as long as no site is watched.
SET VARIABLE change_files = coalesce((SELECT list(file) FROM glob('watches/*/changes.jsonl')), ['/dev/null']);
CREATE OR REPLACE TABLE changes AS
SELECT regexp_extract(filename, 'watches/([^/]+)[.]watch/', 1) AS site, * EXCLUDE (filename)
FROM read_json(getvariable('change_files'), format = 'newline_delimited', filename = true, columns = {
    id: 'VARCHAR', what: 'VARCHAR', url: 'VARCHAR', seen_at: 'TIMESTAMP', title: 'VARCHAR', file: 'VARCHAR',
    found_on: 'VARCHAR', media_type: 'VARCHAR', size_bytes: 'BIGINT', sha256: 'VARCHAR', dated: 'VARCHAR'});
