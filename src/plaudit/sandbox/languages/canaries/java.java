import java.util.Scanner;
public class Main {
    public static void main(String[] arguments) {
        Scanner given = new Scanner(System.in);
        String reached = "possible";
        try { new java.io.FileInputStream("/etc/passwd").read(); } catch (Exception error) { reached = "refused"; }
        System.out.println((given.nextInt() + given.nextInt()) + " " + reached);
    }
}
