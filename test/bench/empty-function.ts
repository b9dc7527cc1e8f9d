/** What Node, the runtime client and a round trip take by themselves. */
export const handler = async () => ({ statusCode: 202 });
