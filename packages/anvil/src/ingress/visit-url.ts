/** Long enough for a call to another region, short against a provider's patience. */
const TIMEOUT_MS = 1_500;

/**
 * Calls a URL and doesn't look at what it says. Which hosts may be called is the handshake's to say, before this.
 * @throws when it wasn't answered with a 2xx in time
 */
export async function visitUrl(url: string): Promise<void> {
  const { hostname } = new URL(url);
  try {
    const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
  } catch (error) {
    // The URL holds a token.
    throw new Error(
      `${hostname}: ${/^status \d+$/.test((error as Error).message) ? (error as Error).message : (error as Error).name}`,
    );
  }
}
