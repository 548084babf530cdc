-- Cancels the steps and gates that are still open in a run that ends. Claims stay: a running attempt still stores its result
-- and cost, which a resume can use; the claim of a dead worker expires.
--
-- Never changed once it is released. A change is close_steps_2.
CREATE FUNCTION close_steps_1(run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE steps s SET status = 'cancelled', finished_at = clock_timestamp()
  WHERE s.run_id = run AND s.status IN ('running', 'paused');
  UPDATE gates g SET status = 'cancelled' WHERE g.run_id = run AND g.status = 'open';
END
$$;
