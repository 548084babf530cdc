-- Senders of webhooks that cannot adapt: their forms, their challenges and the header with the id of an event.
ALTER TABLE workflow_webhooks
  ADD COLUMN accept_forms boolean NOT NULL DEFAULT false,
  ADD COLUMN answer_challenges boolean NOT NULL DEFAULT false,
  ADD COLUMN event_id_header text;
