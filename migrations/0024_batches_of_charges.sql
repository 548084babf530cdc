-- Which statement took it: how a process whose connection was lost finds what it has taken.
ALTER TABLE data_charges ADD COLUMN batch uuid;
