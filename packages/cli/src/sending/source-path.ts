/** Where the ingress takes a source's deliveries. */
export function sourcePath(source: string): string {
  return source === "default" ? "/webhooks" : `/webhooks/${source}`;
}
