// Filtered gaze from an eyelid gatekeeper, for Unity 2021.2 and later (.NET Standard 2.1).
//
// Put this on a GameObject, start `eyelid stream … --sink ws-serve:127.0.0.1:8765` on the same machine,
// and set EYELID_SINK_TOKEN for both. What arrives is filtered, and no raw gaze as long as
// Gatekeeper.holds is true.

using System;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using UnityEngine;

namespace Eyelid
{
    /// <summary>One released sample, in the units of the gatekeeper's scene; Z only of directions.</summary>
    public readonly struct GazeSample
    {
        public readonly double TimeMs;
        public readonly float X;
        public readonly float Y;
        public readonly float Z;

        public GazeSample(double timeMs, float x, float y, float z)
        {
            TimeMs = timeMs;
            X = x;
            Y = y;
            Z = z;
        }
    }

    /// <summary>Something that the gatekeeper found inside: "fixation started", "area entered", ….</summary>
    [Serializable]
    public sealed class GazeEvent
    {
        public string name;
        public double time_ms;
        public string region;
        public float x;
        public float y;
        public float z;
    }

    /// <summary>Connects, reconnects, and hands out gaze on the main thread.</summary>
    public sealed class EyelidGaze : MonoBehaviour
    {
        private const int HeaderBytes = 8;
        private const byte Version = 1;
        private const int HasZ = 1;
        private const int Paused = 2;
        private const int Frozen = 4;
        private const int MostWaiting = 4096;

        [SerializeField] private string address = "ws://127.0.0.1:8765";
        [SerializeField] private bool binary = true;

        private readonly ConcurrentQueue<GazeSample> waiting = new ConcurrentQueue<GazeSample>();
        private readonly ConcurrentQueue<GazeEvent> happened = new ConcurrentQueue<GazeEvent>();
        private CancellationTokenSource stop;

        /// <summary>Called in Update for every sample, in order.</summary>
        public event Action<GazeSample> Released;

        /// <summary>Called in Update for every event, if the gatekeeper was asked for them.</summary>
        public event Action<GazeEvent> Happened;

        /// <summary>The latest sample; repeats while nothing new is released.</summary>
        public GazeSample Latest { get; private set; }

        /// <summary>"on", "paused" or "frozen", as the gatekeeper says; "offline" without one.</summary>
        public string Mode { get; private set; } = "offline";

        /// <summary>Samples that this app was too slow for.</summary>
        public long Lost { get; private set; }

        /// <summary>What the gatekeeper said of itself: filter, ε, window, radius, scene.</summary>
        public Facts Gatekeeper { get; private set; }

        private void OnEnable()
        {
            // The token is a secret: neither in the scene nor in the address, which logs keep.
            string token = Environment.GetEnvironmentVariable("EYELID_SINK_TOKEN");
            if (string.IsNullOrEmpty(token))
            {
                Debug.LogError("EYELID_SINK_TOKEN is not set: take the token that 'eyelid stream' was given");
                return;
            }
            stop = new CancellationTokenSource();
            CancellationToken ended = stop.Token;
            Task.Run(() => Listen(token, ended));
        }

        private void OnDisable()
        {
            stop?.Cancel();
            stop = null;
            Mode = "offline";
        }

        private void Update()
        {
            while (waiting.TryDequeue(out GazeSample sample))
            {
                Latest = sample;
                Released?.Invoke(sample);
            }
            while (happened.TryDequeue(out GazeEvent found))
            {
                Happened?.Invoke(found);
            }
        }

        private async Task Listen(string token, CancellationToken ended)
        {
            int pauseMs = 500;
            while (!ended.IsCancellationRequested)
            {
                try
                {
                    using (ClientWebSocket socket = new ClientWebSocket())
                    {
                        socket.Options.AddSubProtocol(binary ? "eyelid.binary" : "eyelid.json");
                        socket.Options.SetRequestHeader("Authorization", "Bearer " + token);
                        await socket.ConnectAsync(new Uri(address), ended);
                        pauseMs = 500;
                        await Receive(socket, ended);
                    }
                }
                catch (OperationCanceledException)
                {
                    return;
                }
                catch (Exception error) when (error is WebSocketException || error is IOException)
                {
                    Debug.LogWarning("eyelid: " + error.Message + " Trying again.");
                }
                Mode = "offline";
                try
                {
                    await Task.Delay(pauseMs, ended);
                }
                catch (OperationCanceledException)
                {
                    return;
                }
                pauseMs = Math.Min(2 * pauseMs, 5000);
            }
        }

        private async Task Receive(ClientWebSocket socket, CancellationToken ended)
        {
            byte[] buffer = new byte[1 << 16];
            using (MemoryStream message = new MemoryStream())
            {
                while (socket.State == WebSocketState.Open)
                {
                    WebSocketReceiveResult part =
                        await socket.ReceiveAsync(new ArraySegment<byte>(buffer), ended);
                    if (part.MessageType == WebSocketMessageType.Close)
                    {
                        return;
                    }
                    message.Write(buffer, 0, part.Count);
                    if (!part.EndOfMessage)
                    {
                        continue;
                    }
                    TakeMessage(message.GetBuffer(), (int)message.Length, part.MessageType);
                    message.SetLength(0);
                }
            }
        }

        // A span cannot live in an async method.
        private void TakeMessage(byte[] buffer, int length, WebSocketMessageType kind)
        {
            ReadOnlySpan<byte> message = new ReadOnlySpan<byte>(buffer, 0, length);
            if (kind == WebSocketMessageType.Binary)
            {
                TakeBytes(message);
            }
            else
            {
                TakeText(Encoding.UTF8.GetString(message));
            }
        }

        // 0 version, 1 flags, 2 count (uint16), 4 lost (uint32), then records; all little-endian.
        private void TakeBytes(ReadOnlySpan<byte> frame)
        {
            if (frame.Length < HeaderBytes || frame[0] != Version)
            {
                throw new IOException("This is no frame of version 1.");
            }
            int flags = frame[1];
            int count = BinaryPrimitives.ReadUInt16LittleEndian(frame.Slice(2));
            bool hasZ = (flags & HasZ) != 0;
            int size = hasZ ? 20 : 16;
            if (frame.Length != HeaderBytes + count * size)
            {
                throw new IOException("A frame is not as long as its header says.");
            }
            Lost += BinaryPrimitives.ReadUInt32LittleEndian(frame.Slice(4));
            Mode = (flags & Frozen) != 0 ? "frozen" : (flags & Paused) != 0 ? "paused" : "on";
            for (int i = 0; i < count; i++)
            {
                ReadOnlySpan<byte> record = frame.Slice(HeaderBytes + i * size, size);
                double timeMs = BitConverter.Int64BitsToDouble(BinaryPrimitives.ReadInt64LittleEndian(record));
                Take(new GazeSample(timeMs, Float(record, 8), Float(record, 12), hasZ ? Float(record, 16) : 0f));
            }
        }

        private static float Float(ReadOnlySpan<byte> record, int offset)
        {
            return BitConverter.Int32BitsToSingle(BinaryPrimitives.ReadInt32LittleEndian(record.Slice(offset)));
        }

        private void TakeText(string text)
        {
            if (text.StartsWith("{\"hello\"", StringComparison.Ordinal))
            {
                Gatekeeper = JsonUtility.FromJson<Hello>(text).hello;
                return;
            }
            if (text.StartsWith("{\"events\"", StringComparison.Ordinal))
            {
                foreach (GazeEvent found in JsonUtility.FromJson<EventsText>(text).events)
                {
                    happened.Enqueue(found);
                }
                return;
            }
            // Whatever else is said is for others.
            if (!text.StartsWith("{\"time_ms\"", StringComparison.Ordinal))
            {
                return;
            }
            GazeText gaze = JsonUtility.FromJson<GazeText>(text);
            Lost += gaze.lost;
            Mode = gaze.mode;
            bool hasZ = gaze.z != null && gaze.z.Length == gaze.x.Length;
            for (int i = 0; i < gaze.time_ms.Length; i++)
            {
                Take(new GazeSample(gaze.time_ms[i], gaze.x[i], gaze.y[i], hasZ ? gaze.z[i] : 0f));
            }
        }

        private void Take(GazeSample sample)
        {
            waiting.Enqueue(sample);
            // A paused editor must not fill memory: old gaze is of no use.
            while (waiting.Count > MostWaiting)
            {
                waiting.TryDequeue(out _);
            }
        }

        // Names as they are in the messages.

        [Serializable]
        public sealed class Facts
        {
            public string filter;
            public double epsilon;
            public int window;
            public double radius;
            public string units;
            public double[] scene;
            public bool holds;
            public string verdict;
            public string guarantee;
        }

        [Serializable]
        private sealed class Hello
        {
            public Facts hello;
        }

        [Serializable]
        private sealed class EventsText
        {
            public GazeEvent[] events;
        }

        [Serializable]
        private sealed class GazeText
        {
            public double[] time_ms;
            public float[] x;
            public float[] y;
            public float[] z;
            public long lost;
            public string mode;
        }
    }
}
