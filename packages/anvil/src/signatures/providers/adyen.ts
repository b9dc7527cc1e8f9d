import type { Provider } from "../provider.ts";

/**
 * Signs eight fields of each item; dates, reasons and the rest of additionalData are signed by nobody. The answer
 * that it asks for is `[accepted]`. Webhooks of its platforms sign the body in a header, and are known by body and
 * signature.
 */
export const adyen: Provider = {
  name: "adyen",
  scheme: { kind: "adyen" },
  identity: [
    { body: "notificationItems[].NotificationRequestItem.pspReference" },
    { body: "notificationItems[].NotificationRequestItem.eventCode" },
    { body: "notificationItems[].NotificationRequestItem.success" },
  ],
  type: [[{ body: "notificationItems[].NotificationRequestItem.eventCode" }], [{ body: "type" }]],
  batch: {
    list: "notificationItems[]",
    identity: [
      { body: "NotificationRequestItem.pspReference" },
      { body: "NotificationRequestItem.eventCode" },
      { body: "NotificationRequestItem.success" },
    ],
    type: [{ body: "NotificationRequestItem.eventCode" }],
  },
  acceptedText: "[accepted]",
  keepHeaders: [],
  docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
};
