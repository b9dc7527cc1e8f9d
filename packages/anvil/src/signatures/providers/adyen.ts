import type { Provider } from "../provider.ts";

/**
 * Signs eight fields of each item; dates, reasons and the rest of additionalData are signed by nobody. The answer
 * that it asks for is `[accepted]`.
 */
export const adyen: Provider = {
  name: "adyen",
  scheme: { kind: "adyen" },
  identity: [
    { body: "notificationItems[].NotificationRequestItem.pspReference" },
    { body: "notificationItems[].NotificationRequestItem.eventCode" },
    { body: "notificationItems[].NotificationRequestItem.success" },
  ],
  type: [{ body: "notificationItems[].NotificationRequestItem.eventCode" }],
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
