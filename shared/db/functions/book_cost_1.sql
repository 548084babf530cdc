-- Adds the cost of an attempt to its run, whether the run is open or not, and takes the number of a frame. Counts the cost in
-- the usage and charges the holds. Returns what the locked run then has; nulls when it was deleted.
--
-- Never changed once it is released. A change is book_cost_2.
CREATE FUNCTION book_cost_1(run text, cost bigint, OUT status text, OUT frame_seq bigint, OUT resumed_count integer)
  LANGUAGE plpgsql AS $$
DECLARE
  booked record;
BEGIN
  UPDATE runs r SET cost_micros = r.cost_micros + cost, frame_seq = r.frame_seq + 1, updated_at = now()
  WHERE r.id = run
  RETURNING r.workspace_id, r.created_at, r.created_by, r.cost_micros, r.status, r.frame_seq, r.resumed_count INTO booked;
  status := booked.status;
  frame_seq := booked.frame_seq;
  resumed_count := booked.resumed_count;
  IF status IS NOT NULL AND cost > 0 THEN
    INSERT INTO usage_deltas (workspace_id, day, cost_micros, member_id)
    VALUES (booked.workspace_id, booked.created_at::date, cost, booked.created_by);
    PERFORM charge_holds_1(run, booked.resumed_count, booked.cost_micros, cost);
  END IF;
END
$$;
