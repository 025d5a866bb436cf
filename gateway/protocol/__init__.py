"""The public HTTP protocols as bytes and values: requests, events, errors, listings. No I/O."""
