-- Gives an amount of a contained hold back to its lender, if that is still open; otherwise no one holds the amount any longer.
-- The caller has locked the budget. Returns by how much the lender's hold has grown.
--
-- Never changed once it is released. A change is return_unused_2.
CREATE FUNCTION return_unused_1(hold budget_holds, unused bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN hold.contained AND unused > 0 THEN grow_hold_1(lender_of_1(hold), unused) ELSE 0 END;
END
$$;
