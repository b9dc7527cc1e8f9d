/**
 * What a sender says about its own retrying, for the log: `x-slack-retry-num: 1` explains why an event came twice.
 * Never more than that, since it isn't signed: a retry doesn't mean that the first attempt arrived.
 */
export function retryHeaders(headers: Headers): { retry?: Record<string, string> } {
  const found: [string, string][] = [];
  headers.forEach((value, name) => {
    if (found.length < MAX_HEADERS && /retry|attempt/.test(name)) found.push([name, value.slice(0, 100)]);
  });
  return found.length > 0 ? { retry: Object.fromEntries(found) } : {};
}

const MAX_HEADERS = 4;
