/**
 * What each request may hold without being counted: nearly every webhook is smaller, and so passes however much a
 * flood of large bodies holds.
 */
export const UNCOUNTED_BYTES: number = 32 * 1024;
export const DEFAULT_BODY_BUDGET: number = 256 * 1024 * 1024;

/** The memory that bodies may take, over all requests of an ingress. */
export type BodyBudget = {
  /** One request's part of it. */
  share(): BodyShare;
  /** Bytes that are counted now. */
  heldBytes(): number;
};

export type BodyShare = {
  /**
   * Says how much the request holds by now, its uncounted part included.
   * @returns false when that is more than is left; then the share stays as it was
   */
  hold(bytes: number): boolean;
  /** Gives all of it back. Once the request is answered, whatever the answer. */
  release(): void;
};

/**
 * A signature can only be checked over the whole body, so whoever makes up a well-formed one gets to send it. Bounds
 * what that costs: one body is bounded by its source's `bodyLimit`, all of them together by this.
 */
export function bodyBudget(limitBytes: number): BodyBudget {
  let held = 0;
  return {
    heldBytes: () => held,
    share() {
      let mine = 0;
      return {
        hold(bytes) {
          const counted = Math.max(0, bytes - UNCOUNTED_BYTES);
          if (held - mine + counted > limitBytes) return false;
          held += counted - mine;
          mine = counted;
          return true;
        },
        release() {
          held -= mine;
          mine = 0;
        },
      };
    },
  };
}
