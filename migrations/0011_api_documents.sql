-- Tools that were imported from an API document: how their arguments become a request, and what it authenticates with. `offered`
-- is what the document described when it was last read, if it differs: the tool is not called until that is accepted.
ALTER TABLE custom_tools
  ADD COLUMN request json,
  ADD COLUMN auth json,
  ADD COLUMN document_url text,
  ADD COLUMN document_server text,
  ADD COLUMN response_schema json,
  ADD COLUMN offered json,
  ADD CONSTRAINT custom_tools_request_check
    CHECK (request IS NULL AND auth IS NULL AND document_url IS NULL AND document_server IS NULL AND
           response_schema IS NULL AND offered IS NULL OR
           request IS NOT NULL AND kind = 'http' AND pinned_schema IS NOT NULL) NOT VALID;
