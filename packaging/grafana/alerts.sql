-- Alerts over a lake in ClickHouse. Each statement gives a row for each trouble, and none while all is well: a rule of
-- Grafana, or any tool that runs SQL, fires when there are rows. Change the numbers to what your runs vary by.

-- The last run of a project is 5 % longer than the median of the ten before it.
select project, run, commit, length / usual as ratio from (
  select project, run, any(commit) as commit, max(`end`) as length, min(run_start) as at,
    row_number() over (partition by project order by at desc) as last,
    median(length) over (partition by project order by at desc rows between 1 following and 10 following) as usual
  from runs group by project, run)
where last = 1 and usual > 0 and length > 1.05 * usual;

-- A region takes 10 % more time in the last run of a project than in the median of the ten before it, and at least 1 s.
select project, region, run, own / usual as ratio from (
  select project, region, run, sum(exclusive) as own, min(run_start) as at,
    row_number() over (partition by project, region order by at desc) as last,
    median(own) over (partition by project, region order by at desc rows between 1 following and 10 following) as usual
  from profile where unit = 'ns' and (flat = 0 or callpath is null) group by project, region, run)
where last = 1 and usual > 0 and own > 1.1 * usual and own - usual > 1e9;

-- No run of a project for a day and a half.
select project, max(run_start) as last_run from runs group by project having last_run < now() - interval 36 hour;
